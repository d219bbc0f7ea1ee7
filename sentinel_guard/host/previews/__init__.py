"""What an action that a person is asked about would do to the machine as it is now, in lines for them."""
