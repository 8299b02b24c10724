"""The json of speech recognisers, in which the words of a recording stand several times, in reading order:

values     json as values, parsed and written
places     where words stand in it, with their times, speakers and channels; strings as lines of words
recording  the words once: those of one list, found in the others; and the json with marks wherever they stand
spelling   how a word and its marks are written in each place
"""
