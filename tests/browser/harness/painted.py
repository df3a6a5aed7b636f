"""Scripts that read what a page has painted."""

COUNT = """(colour) => {
  const canvas = document.querySelector('.tsk-gantt canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] === colour[0] && data[i + 1] === colour[1] && data[i + 2] === colour[2]) n += 1;
  }
  return n;
}"""
PAINTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))"
"""Waits until what was asked for is painted: it is in the frame after the next one at the latest."""
