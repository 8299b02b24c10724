"""A finished run on paper, in reading order:

page          `report.md`
final_scores  what the model scores, and what it gained
curves        the log as a picture
card          the model card
"""
