"""What an operator can see of a running server; never what it is about.

Labels are names of services, methods, codes, sides and states: there is a bounded number of each,
and none comes from a client.
"""
