"""The json of speech recognisers, in which the words of a recording stand several times, in reading order:

values     json as values, parsed and written
groups     where words stand, with their times, speakers and channels; the words of one path, aligned with another's
recording  the words once: those of one group, found in the others; and the json with marks wherever they stand
spelling   how a word and its marks are written in each place
"""
