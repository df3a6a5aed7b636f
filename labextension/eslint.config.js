import js from '@eslint/js';
import globals from 'globals';
import tseslint from 'typescript-eslint';

const HOST_PACKAGES = {
  group: ['@jupyterlab/*', '@lumino/*', '@jupyter-widgets/*'],
  message: 'Only hosts/ may know JupyterLab: pass what you need as an option of mount().'
};

/** The order of the layers: a folder imports only what stands before it. */
const LAYERS = ['lib', 'wire', 'files', 'store', 'charts', 'hosts'];

const layerRules = LAYERS.map((layer, index) => {
  const above = LAYERS.slice(index + 1);
  const patterns = above.map(name => ({
    group: [`**/${name}`, `**/${name}/**`],
    message: `${layer}/ stands below ${name}/ (${LAYERS.join(' < ')}).`
  }));
  if (layer !== 'hosts') {
    patterns.push(HOST_PACKAGES);
  }
  return {
    files: [`labextension/src/${layer}/**/*.{ts,tsx}`],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] }
  };
});

export default tseslint.config(
  { ignores: ['labextension/lib/**', 'labextension/coverage/**'] },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      globals: globals.browser,
      parserOptions: { project: './tsconfig.test.json', tsconfigRootDir: import.meta.dirname }
    },
    rules: {
      eqeqeq: 'error',
      curly: 'error',
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Task keys are hostile text: use textContent.' },
        { property: 'outerHTML', message: 'Task keys are hostile text: use textContent.' },
        { property: 'insertAdjacentHTML', message: 'Task keys are hostile text: use textContent.' }
      ],
      'no-restricted-syntax': [
        'error',
        { selector: ':not(TSLiteralType) > Literal[value=/Px$/]', message: 'Names that end in Px are short ones in the scripts of results: write .namePx.' }
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      // Hot loops read typed arrays inside of their bounds; `as number` says so where `!` is not allowed.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }]
    }
  },
  ...layerRules,
  {
    files: ['labextension/test/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' }
  }
);
