// Draws words and numbers from the browser's CSPRNG.

let words = null

/** Loads the list of 2048 words on first use. */
export async function drawWords(number) {
  words = words ?? (await import(document.querySelector('[data-words]').dataset.words)).wordlist
  return Array.from({ length: number }, () => words[below(words.length)])
}

/** Returns a uniform number below `limit`, by rejection sampling. */
export function below(limit) {
  const draw = new Uint32Array(1)
  const fair = Math.floor(2 ** 32 / limit) * limit
  do crypto.getRandomValues(draw)
  while (draw[0] >= fair)
  return draw[0] % limit
}
