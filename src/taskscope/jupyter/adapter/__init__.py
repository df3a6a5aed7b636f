"""What is relied on of ipykernel and comm that they do not promise.

``tests/unit/test_private_names.py`` fails when one of these names changes, or another folder knows it.
"""
