"""Networks that verify whether two objects in a picture are in a relation: Bingham et al. 2017.

Bingham, Molino, Szerlip, Obermeyer and Goodman 2017, Characterizing how Visual Question Answering models scale with the
world, section 3 and appendix 6.5.
"""
