"""One table of everyday queries through every engine and operator, judged by brute force.

oracle      what the rows must be, over explicit intervals; imports nothing of Muntin
everyday    queries and tables as people have them, each made from one seed
runners     every way to compute a query; a new engine or operator is one more line
census      which kinds of edges the plans that ran really contained
registered  windows that come and go, kind by kind, and what their rows must be
comparison  a result beside the oracle's, and the smallest question that still differs
"""
