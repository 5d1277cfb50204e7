"""What is true of every federation of a class: each file a theory, each fact with the theorem that makes it true."""
