const { SwcJsMinimizerRspackPlugin } = require('@rspack/core');

// By default a module's id is a hash of its name, and the name of the entry point holds the path of this folder: the
// same sources would give another file in another place.
const minimizer = [new SwcJsMinimizerRspackPlugin({ minimizerOptions: { compress: { passes: 4 } } })];
// What several views share comes with the first of them, as one file: many small ones pack worse by a tenth.
const splitChunks = { chunks: 'async', cacheGroups: { shared: { minChunks: 2, name: 'shared', enforce: true } } };
const optimization = { moduleIds: 'natural', minimizer, splitChunks };

const styles = { test: /labextension[\\/]lib[\\/].*\.js$/, use: [require.resolve('./style-space.cjs')] };

module.exports = { optimization, module: { rules: [styles] } };
