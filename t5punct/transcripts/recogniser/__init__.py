"""The json of speech recognisers, in which the words of a recording stand several times, in reading order:

values     json as values, parsed and written
places     where words stand in it, with their times, speakers and channels
recording  the words once, and the json with marks and capitals wherever they stand
alignment  the words of one list, found in another
spelling   how a word and its marks are written in each place
"""
