// "Did you mean": the known word that is nearest to an unknown one.

/** Our commands, and the words that other programs use for them. */
const SYNONYMS: Record<string, string> = {
  push: 'create send share new upload put paste',
  get: 'receive read fetch open download show retrieve cat',
  expire: 'delete remove rm burn revoke destroy',
  list: 'ls pushes show all',
  audit: 'log logs history events',
  serve: 'start run server up daemon',
  config: 'settings configuration env',
  login: 'signin auth connect',
  logout: 'signout',
  logins: 'profiles whoami servers',
  user: 'users account accounts',
  token: 'tokens apikey',
  add: 'create new make',
  create: 'add new make',
  remove: 'delete rm del',
  revoke: 'delete remove rm',
  password: 'passwd reset',
  selftest: 'test check',
}

/** `: did you mean push?`, or `''` when no known word is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearest(word, known) ?? known.find((candidate) => isSynonym(word, candidate))
  return near === undefined ? '' : `: did you mean ${near}?`
}

function isSynonym(word: string, known: string): boolean {
  const words = Object.hasOwn(SYNONYMS, known) ? (SYNONYMS[known] ?? '') : ''
  return words.split(' ').includes(word.toLowerCase())
}

function nearest(word: string, known: readonly string[]): string | undefined {
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

/** Edit distance: letters to add, drop, replace or swap with a neighbour (optimal string alignment). */
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
