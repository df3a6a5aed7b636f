const { SwcJsMinimizerRspackPlugin } = require('@rspack/core');

// By default a module's id is a hash of its name, and the name of the entry point holds the path of this folder: the
// same sources would give another file in another place.
const optimization = { moduleIds: 'natural', minimizer: [new SwcJsMinimizerRspackPlugin({ minimizerOptions: { compress: { passes: 4 } } })] };

const styles = { test: /labextension[\\/]lib[\\/].*\.js$/, use: [require.resolve('./style-space.cjs')] };

module.exports = { optimization, module: { rules: [styles] } };
