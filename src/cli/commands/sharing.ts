// Commands that call a server: creating, opening and managing pushes.

import { MAX_PAGE, PAGE_SIZE } from '../../domain/audit.ts'
import { DURATIONS, MAX_DAYS, MAX_VIEWS } from '../../domain/new-push.ts'
import { PUSH_KINDS } from '../../domain/push.ts'
import { DAY, HOUR, MINUTE } from '../../domain/time.ts'
import { duration, oneOf, type Parsed, truth, wholeNumber } from '../../settings/parsers.ts'
import { NO_VALUE } from '../../settings/setting.ts'
import { repeated, toggle, valued } from '../command.ts'
import { newFile, output, readableFile, STANDARD, sentFile } from '../paths.ts'
import { serverCommand } from '../server-command.ts'

const TOKEN = '7k3m9qx2vn4t8bw5hj6r0yzacd'
const LINK = `https://once.example/p/${TOKEN}/r`

const DURATION_NAMES = DURATIONS.map((ms) =>
  ms >= DAY ? `${ms / DAY}d` : ms % HOUR === 0 ? `${ms / HOUR}h` : `${ms / MINUTE}m`,
)
const SOME_DURATIONS = `${DURATION_NAMES[0]}, ${DURATION_NAMES[1]}, … ${DURATION_NAMES.at(-1)}`

/** The API's index of a duration. */
function durationIndex(text: string): Parsed<number> {
  const parsed = duration('1m', '3650d')(text)
  const value = 'value' in parsed ? DURATIONS.indexOf(parsed.value) : -1
  return value === -1 ? { problem: `must be one of ${DURATION_NAMES.join(', ')}` } : { value }
}

function notBlank(value: string): Parsed<string> {
  return value === '' ? { problem: "can't be blank" } : { value }
}

/** A flag whose empty text removes what there is, unlike a missing one. */
function removable(name: string, help: string) {
  const parse = (value: string): Parsed<string> =>
    value === NO_VALUE ? { problem: `may be "", which removes the ${name}` } : { value }
  return { ...valued(`${name} <text>`, help, parse), bare: NO_VALUE }
}

const days = (help: string) => valued('days <number>', help, wholeNumber('1', String(MAX_DAYS)))
const views = (help: string) => valued('views <number>', help, wholeNumber('1', String(MAX_VIEWS)))
const lasting = (help: string) => valued('duration <time>', help, durationIndex)
const json = toggle('json', "Print the server's response")
const page = valued('page <number>', `Page, from 1 to ${MAX_PAGE}`, wholeNumber('1', String(MAX_PAGE)))
const OWN_LABEL = 'A label that only you see'
const OWN_NOTE = 'A note that only you see'

const edited = {
  name: removable('name', OWN_LABEL),
  note: removable('note', OWN_NOTE),
  days: days('Expires this many days after its creation'),
  views: views('Expires after this many views in all'),
  duration: lasting(`Expires ${SOME_DURATIONS} after its creation`),
}

const PUSH = serverCommand({
  name: 'push',
  operands: '[TEXT]',
  summary: 'create a push of a text, a link or files, and print its secret link',
  help:
    'Creates a push of a text, a link, a QR code or files, and prints its secret link. ' +
    'Without TEXT it reads standard input; with files only when TEXT is "-". ' +
    'It removes the line break at the end of a single line. ' +
    'Other users of this machine can see arguments, so pipe secrets in.',
  examples: `  pwgen 20 1 | oncebox push                  a password, from another program
  oncebox push                               type or paste it, then Ctrl-D
  oncebox push --views 1 --duration 1h < note.txt
  oncebox push --file report.pdf --file key.zip --passphrase
  tar cz photos | oncebox push --file - --name photos.tgz
  oncebox push https://example.org/invite --kind url --qr`,
  flags: {
    file: repeated(
      'file <path>',
      'File to push, "-" for standard input; may be repeated. Needs a login',
      sentFile,
    ),
    kind: valued(
      `kind <${PUSH_KINDS.join('|')}>`,
      'Kind of the push (default: file when there are files, else text)',
      (text) => {
        const value = PUSH_KINDS.find((kind) => kind === text)
        return value === undefined ? { problem: `must be one of ${PUSH_KINDS.join(', ')}` } : { value }
      },
    ),
    days: days('Expires after this many days'),
    views: views('Expires after this many views'),
    duration: lasting(`Expires after ${SOME_DURATIONS}`),
    passphrase: toggle('passphrase', 'Ask for a passphrase that the recipient must enter'),
    passphraseFile: valued('passphrase-file <path>', 'Read the passphrase from a file', readableFile),
    retrievalStep: {
      ...valued(
        'retrieval-step <true|false>',
        'Whether the recipient is told first that opening uses up a view',
        truth,
      ),
      bare: 'true',
    },
    deletableByViewer: {
      ...valued('deletable-by-viewer <true|false>', 'Whether the recipient may delete the push', truth),
      bare: 'true',
    },
    name: valued('name <text>', `${OWN_LABEL}; with --file - also the name of the file`, notBlank),
    note: valued('note <text>', OWN_NOTE, notBlank),
    qr: toggle('qr', "Also draw the link's QR code"),
    json: toggle('json', "Print the server's response instead of the link"),
  },
  sendsSecrets: true,
  problems: ({ flags: { file, name }, operands }) => {
    const fromInput = file.filter((path) => path === STANDARD).length
    const isTwice = fromInput > 1 || (fromInput > 0 && operands[0] === STANDARD)
    return [
      ...(isTwice ? ['--file -: standard input can be read only once'] : []),
      ...(fromInput > 0 && name === null ? ['--file -: add --name, which also names the file'] : []),
    ]
  },
  act: async (given) => (await import('../push.ts')).push(given),
})

const GET = serverCommand({
  name: 'get',
  operands: 'LINK-OR-TOKEN',
  summary: 'open a push: print its text or save its files',
  help:
    'Opens a push, which uses up a view. Prints a text on standard output, or saves it to the file or folder that ' +
    '--output names. Saves files in the current folder or in --output. Overwrites nothing, creates missing folders, and ' +
    'replaces unsafe names. Resumes an interrupted download without another view, even when the same command runs later.',
  examples: `  oncebox get ${LINK}
  oncebox get ${TOKEN} > note.txt
  oncebox get ${TOKEN} --output downloads`,
  flags: {
    output: valued(
      'output <path>',
      'File for a text or a single file, or a folder (end a new folder with /)',
      output,
    ),
    passphraseFile: valued(
      'passphrase-file <path>',
      'Read the passphrase from a file instead of asking for it',
      readableFile,
    ),
    qr: toggle('qr', 'Also draw the text as a QR code'),
    json: toggle('json', "Print the server's response; do not download files"),
  },
  act: async (given) => (await import('../get.ts')).get(given),
})

const EXPORT = serverCommand({
  name: 'export',
  operands: '[FILE|-]',
  needsLogin: true,
  isPatient: true,
  summary: 'save your list of pushes and their logs as JSON or CSV',
  help:
    'Writes all your pushes, active and expired, with their names, notes, secret links and logs. Their content is not in it. ' +
    'Without FILE, or with -, it goes to standard output. A file is made with access for you alone, whole or not at all, and ' +
    'never over another one. JSON has all that the server tells. CSV is one table: a row for each push, below it the entries of ' +
    'its log; before what a spreadsheet would run as a formula it has an apostrophe. Needs a login.',
  examples: `  oncebox export pushes.json
  oncebox export pushes.csv
  oncebox export --format csv > pushes.csv`,
  flags: {
    format: valued(
      'format <json|csv>',
      'Format; otherwise csv for a FILE that ends in .csv, and json for any other',
      oneOf('json', 'csv'),
    ),
  },
  problems: ({ operands: [file = STANDARD] }) => {
    const found = file === STANDARD ? { value: file } : newFile(file)
    return 'problem' in found ? [`FILE ${JSON.stringify(file)}: ${found.problem}`] : []
  },
  act: async (given) => (await import('../export.ts')).exportPushes(given),
})

export const SHARING = [
  PUSH,
  GET,
  serverCommand({
    name: 'expire',
    operands: 'LINK-OR-TOKEN',
    summary: 'expire a push now',
    help: 'Expires a push now and destroys its content: your own push, or one that its recipients may delete.',
    examples: `  oncebox expire ${LINK}`,
    flags: { json },
    act: async (given) => (await import('../manage.ts')).expire(given),
  }),
  serverCommand({
    name: 'edit',
    operands: 'LINK-OR-TOKEN',
    needsLogin: true,
    summary: 'change the name, note or limits of one of your pushes',
    help:
      'Changes the name or note of one of your pushes, or lets it expire sooner. ' +
      'Days and durations count from its creation, and views include those already used. ' +
      'An empty name or note ("") removes it. Needs a login.',
    examples: `  oncebox edit ${LINK} --name "VPN for Cleo"
  oncebox edit ${TOKEN} --days 2 --views 1
  oncebox edit ${TOKEN} --note ""`,
    flags: { ...edited, json },
    problems: ({ raw }) => {
      const names = Object.keys(edited)
      if (names.some((name) => raw[name] !== undefined)) return []
      return [`nothing to change: add ${names.map((name) => `--${name}`).join(', ')}`]
    },
    act: async (given) => (await import('../manage.ts')).edit(given),
  }),
  serverCommand({
    name: 'audit',
    operands: 'LINK-OR-TOKEN',
    needsLogin: true,
    summary: 'show who opened one of your pushes, and when',
    help: `Shows the log of one of your pushes, oldest entries first, ${PAGE_SIZE} a page. Needs a login.`,
    examples: `  oncebox audit ${TOKEN}\n  oncebox audit ${TOKEN} --page 2`,
    flags: { page, json },
    act: async (given) => (await import('../manage.ts')).audit(given),
  }),
  serverCommand({
    name: 'list',
    needsLogin: true,
    summary: 'list your pushes',
    help: `Lists your pushes that can still be opened, newest first, ${PAGE_SIZE} a page. Needs a login.`,
    examples: '  oncebox list\n  oncebox list --expired --page 2',
    flags: { expired: toggle('expired', 'List expired pushes instead'), page, json },
    act: async (given) => (await import('../manage.ts')).list(given),
  }),
  EXPORT,
]
