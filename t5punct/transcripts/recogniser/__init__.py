"""The json of speech recognisers: values (parsed and written), groups (where words stand, and what their times are),
recording (the words once; the json with marks in each of these places).
"""
