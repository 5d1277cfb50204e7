"""Changes of nested data, to tamper with certificates: each is a function that changes its argument."""


def put(*path_and_value):
    """Put a value, or what a function makes of the old one, at a path of keys."""
    *path, key, value = path_and_value

    def change(data):
        for step in path:
            data = data[step]
        data[key] = value(data[key]) if callable(value) else value

    return change


def dropped(*path):
    """Delete the entry at a path of keys."""
    *path, key = path

    def change(data):
        for step in path:
            data = data[step]
        del data[key]

    return change


def both(*changes):
    def change(data):
        for one in changes:
            one(data)

    return change
