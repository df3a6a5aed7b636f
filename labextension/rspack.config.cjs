// By default a module's id is a hash of its name, and the name of the entry point holds the path of this folder: the
// same sources would give another file in another place.
module.exports = { optimization: { moduleIds: 'natural' } };
