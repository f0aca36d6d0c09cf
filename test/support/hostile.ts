// Texts that cost a careless parser, regular expression or normalisation most, of any length.

/**
 * Units to repeat. The text ends in another character, so that a pattern that matches up to it fails there.
 */
export const ALPHABETS: Readonly<Record<string, string>> = {
  labels: 'a.',
  dots: '.',
  letters: 'a',
  digits: '9',
  blanks: ' ',
  'line breaks': '\r\n',
  tabs: '\t ',
  slashes: '/',
  colons: ':',
  semicolons: ';a=',
  commas: ',',
  quotes: '"',
  backslashes: '\\',
  brackets: '[',
  braces: '{"a":',
  'closing brackets': ']',
  angles: '<&',
  equals: '=?',
  percents: '%',
  'percent escapes': '%2B',
  pluses: '+',
  marks: '\u0301\u0316',
  'letters of marks': '\uff9e\u0301',
  'long ligatures': '\ufdfa',
  emoji: '🔑',
  surrogates: '\ud83d',
  'other blanks': '\u3000',
  dashes: '--',
}

const END = '!'

/** Returns about this many bytes of UTF-8. */
export function hostileText(unit: string, bytes: number): string {
  return `${unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))))}${END}`
}

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'
export const MULTIPART_TYPE = 'multipart/form-data; boundary=x'

export type Body = { type: string; body: Uint8Array<ArrayBuffer> }

/** Makes a body of about this many bytes, not more. */
export type MakeBody = (bytes: number) => Body

/** Alphabets with meaning for a parser of bodies. */
const WHOLE = [
  'digits',
  'blanks',
  'line breaks',
  'colons',
  'commas',
  'quotes',
  'backslashes',
  'brackets',
].concat([
  'braces',
  'closing brackets',
  'angles',
  'percents',
  'percent escapes',
  'pluses',
  'dashes',
  'surrogates',
])

/** Bodies of hostile structure, by name. */
export const HOSTILE_BODIES: Readonly<Record<string, MakeBody>> = {
  ...Object.fromEntries(
    Object.entries({ JSON: JSON_TYPE, form: FORM_TYPE, multipart: MULTIPART_TYPE }).flatMap(([kind, type]) =>
      WHOLE.map((alphabet) => [
        `${kind} body: ${alphabet}`,
        (bytes: number) => bodyOf(type, hostileText(ALPHABETS[alphabet] ?? '', bytes)),
      ]),
    ),
  ),
  'JSON of nested members': json((n) => `{"push":${'{"push":'.repeat(n / 8)}`),
  'JSON of many members': json((n) => `{"push":{${numbered(n / 14, (at) => `"${at}":1`).join(',')}}}`),
  'JSON of one member again and again': json((n) => `{"push":{${'"a":1,'.repeat(n / 6)}"a":1}}`),
  'JSON of empty lists': json((n) => `{"push":{"payload":[${'[],'.repeat(n / 3)}[]]}}`),
  'JSON of one number': json((n) => `{"push":{"payload":${'9'.repeat(n)}}}`),
  'JSON of one fraction': json((n) => `{"push":{"payload":0.${'1'.repeat(n)}}}`),
  'JSON of one exponent': json((n) => `{"push":{"payload":1e${'9'.repeat(n)}}}`),
  'JSON of one name': json((n) => `{"push":{"${'a'.repeat(n)}":1}}`),
  'JSON of escapes': json((n) => `{"push":{"payload":"${'\\u0000'.repeat(n / 6)}"}}`),
  'JSON of escaped line breaks': json((n) => `{"push":{"payload":"${'\\n'.repeat(n / 2)}"}}`),
  'JSON of files': json((n) => {
    const files = numbered(1000, (at) => `{"filename":"${at}","data":"${'YWFh'.repeat(n / 4500)}"}`)
    return `{"push":{"payload":"a","files":[${files.join(',')}]}}`
  }),
  'JSON of one file': json((n) => `{"push":{"files":[{"filename":"a","data":"${'YWFh'.repeat(n / 4)}"}]}}`),
  'JSON of what is nearly a file': json(
    (n) => `{"push":{"files":[{"filename":"a","data":"${'YWFh'.repeat(n / 4)}!"}]}}`,
  ),
  'form of many fields': form((n) => 'push[a]=b&'.repeat(n / 10)),
  'form of nested names': form((n) => `push${'[a]'.repeat(n / 3)}=b`),
  'form of files': form((n) => 'push[files][]=b&'.repeat(n / 16)),
  'form of 900 fields': form((n) =>
    numbered(900, (at) => `push[x${at}]=${'%41'.repeat(n / 3000)}`).join('&'),
  ),
  'multipart of many parts': multipart((n) => part('a', '').repeat(n / part('a', '').length)),
  'multipart of 900 parts': multipart((n) => numbered(900, () => part('a', 'b'.repeat(n / 1000))).join('')),
  'multipart of empty parts': multipart((n) => '--x\r\n\r\n\r\n'.repeat(n / 9)),
  'multipart of one header': multipart(
    (n) => `--x\r\nContent-Disposition: form-data; name="${'a'.repeat(n)}`,
  ),
  'multipart of headers': multipart((n) => `--x\r\n${'a: b\r\n'.repeat(n / 6)}`),
  'multipart of what is nearly a boundary': multipart((n) => part('push[payload]', '\r\n--'.repeat(n / 4))),
  'multipart with an epilogue': multipart((n) => `${part('push[payload]', 'a')}--x--\r\n${'-'.repeat(n)}`),
}

export type HostileFields = {
  names: readonly string[]
  unit: string
  /** The prefix of each hostile text. */
  start: string
  others: Readonly<Record<string, string>>
}

/** Returns bodies of a push with hostile fields, which share the bytes, beside harmless ones. */
export function hostileFields({ names, unit, start, others }: HostileFields) {
  const fieldsOf = (bytes: number) => [
    ...Object.entries(others),
    ...names.map((name) => [name, start + hostileText(unit, bytes / (names.length + 1))] as const),
  ]
  const widest = JSON.stringify(unit).length / Buffer.byteLength(unit)
  return {
    JSON: json((n) => JSON.stringify({ push: Object.fromEntries(fieldsOf(n / widest)) })),
    form: form((n) =>
      fieldsOf(n)
        .map(([name, text]) => `push[${name}]=${text}`)
        .join('&'),
    ),
    multipart: multipart((n) =>
      fieldsOf(n)
        .map(([name, text]) => part(`push[${name}]`, text))
        .join(''),
    ),
  }
}

function bodyOf(type: string, text: string): Body {
  return { type, body: new Uint8Array(Buffer.from(text)) }
}

type Write = (bytes: number) => string

function json(write: Write): MakeBody {
  return (bytes) => bodyOf(JSON_TYPE, write(bytes - 200))
}

function form(write: Write): MakeBody {
  return (bytes) => bodyOf(FORM_TYPE, write(bytes - 200))
}

function multipart(write: Write): MakeBody {
  return (bytes) => bodyOf(MULTIPART_TYPE, `${write(bytes - 5000)}--x--\r\n`)
}

function part(name: string, content: string): string {
  return `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`
}

function numbered(count: number, write: (at: number) => string): string[] {
  return Array.from({ length: Math.floor(count) }, (_, at) => write(at))
}
