"""The json of speech recognisers, in which the words of a recording stand several times, in reading order:

strings    a json text whose strings are replaced and which stays as it is otherwise
places     where words stand in it, with their times, speakers and channels
recording  the words once, and the json with marks and capitals wherever they stand
alignment  the words of one list, found in another
spelling   how a word is written in each place
marks      marks that have items of their own
"""
