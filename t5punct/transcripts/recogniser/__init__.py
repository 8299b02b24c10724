"""The json of speech recognisers: values (parsed and written), groups (where words stand), recording (the words once,
and the json with marks), spelling (how a word and its marks are written in each place).
"""
