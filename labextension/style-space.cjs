/** Takes needless space out of style sheets, which bundlers leave in template strings as they are written; a loader of rspack, too. */
module.exports = source => source.replace(/(?<=_CSS = `|\bCSS = `)[^`]*/g, withoutSpace);

/** What is written in by code, `${…}`, stays as it is. */
function withoutSpace(css) {
  const parts = css.replace(/\s+/g, ' ').split(/(\$\{[^}]*\})/);
  return parts.map((part, i) => (i % 2 === 1 ? part : part.replace(/ ?([{};,>]) ?/g, '$1').replace(/: /g, ':').replace(/\b0\./g, '.').replace(/;\}/g, '}'))).join('').trim();
}
