"""What is relied on of ipykernel and comm that they do not promise."""
