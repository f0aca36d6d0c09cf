// Finds the known word closest to a mistyped flag, command or variable.

/** Returns the known word, ignoring case and leading dashes; undefined when none is similar. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const plain = bare(word)
  const ranked = known
    .map((candidate) => ({ candidate, steps: distance(plain, bare(candidate)) }))
    .filter(({ candidate, steps }) => steps <= bare(candidate).length / 3)
    .sort((one, other) => one.steps - other.steps)
  const beginning = known.filter((candidate) => plain.length >= 3 && bare(candidate).startsWith(plain))
  return ranked[0]?.candidate ?? (beginning.length === 1 ? beginning[0] : undefined)
}

function bare(word: string): string {
  return word.replace(/^-+/, '').toLowerCase()
}

/**
 * Returns the edit distance: letters to add, drop, replace or swap with a neighbour (optimal string
 * alignment).
 */
function distance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= from.length; row += 1) {
    rows[row] = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const steps = [
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
      ]
      rows[row]?.push(Math.min(...steps, isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY))
    }
  }
  return at(from.length, to.length)
}
