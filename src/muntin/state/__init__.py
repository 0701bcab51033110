"""What a stream keeps: the state of a bucket of keys, each step of it, and commands to it."""
