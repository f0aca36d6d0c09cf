// Reads the command line of `oncebox move`. Places are named on the command line alone: the variables of a server on the same
// machine describe one end of the move, and nobody could say which.

import type { Command } from 'commander'
import type { MovePlace, MoveWish } from '../app/moving/wish.ts'
import { type BucketSettings, bucketSettingsOf } from '../settings/bucket.ts'
import { databaseUrl } from '../settings/database-parsers.ts'
import { readSettings } from '../settings/fold.ts'
import { bucketUrl, type Parser, path } from '../settings/parsers.ts'
import { settings } from '../settings/table.ts'
import { UsageError } from './failures.ts'
import { givenFlags, isGiven, readOperands, textFlag } from './flags.ts'
import type { Shell } from './shell.ts'

/** They have variables alone. */
export const MOVE_SECRETS = {
  databasePassword: settings.databasePassword,
  s3AccessKeyId: settings.s3AccessKeyId,
  s3SecretAccessKey: settings.s3SecretAccessKey,
}

type Reading = { command: Command; shell: Shell; problems: string[] }

export function readMoveWish(command: Command, shell: Shell): MoveWish {
  const { problems } = readOperands(command, { names: [] })
  const flags = givenFlags(command, MOVE_SECRETS)
  const secrets = readSettings(MOVE_SECRETS, { flags, place: shell.place, readFile: shell.readFile })
  problems.push(...(secrets.problems ?? []))
  const reading = { command, shell, problems }
  const password = secrets.config?.databasePassword ?? null
  const from = readPlace('from', password, reading)
  const to = readPlace('to', password, reading)
  const bucket = (name: string) => readBucket(name, secrets.config ?? null, reading)
  const file = (name: string) => readFlag(name, path, reading)
  const buckets = { fromBucket: bucket('from-files-url'), toBucket: bucket('files-url') }
  const keys = { keyFile: file('key-file'), fromKeyFile: file('from-key-file') }
  const folders = { toDataDir: file('data-dir'), fromDataDir: file('from-data-dir') }
  const mode = readMode(reading)
  if (problems.length > 0 || from === null || to === null) throw new UsageError(problems, 'oncebox move')
  return {
    ...{ from, to, ...buckets, ...keys, ...folders, mode },
    skipDamaged: isGiven(command, 'skipDamaged'),
    destroySource: isGiven(command, 'destroySource'),
  }
}

function readMode({ command, shell, problems }: Reading): MoveWish['mode'] {
  const [isDry, isConfirm, isYes] = [
    isGiven(command, 'dryRun'),
    isGiven(command, 'confirm'),
    isGiven(command, 'yes'),
  ]
  if (isGiven(command, 'destroySource') && !isDry && !isYes && !shell.isTerminal)
    problems.push(
      '--destroy-source: without a terminal to ask, --yes is needed: what the source holds is destroyed for ever',
    )
  if (isDry && (isConfirm || isYes)) problems.push('--dry-run changes nothing: leave --confirm and --yes out')
  return isDry ? 'dry-run' : isConfirm ? 'confirm' : 'move'
}

const SERVER = /^[a-z][a-z0-9+]*:\/\//i

function readPlace(name: 'from' | 'to', password: string | null, reading: Reading): MovePlace | null {
  const text = textFlag(reading.command, name)
  if (text === undefined) {
    reading.problems.push(`--${name} is missing`)
    return null
  }
  if (/^s3:/i.test(text)) {
    const flag = name === 'to' ? '--files-url' : '--from-files-url'
    reading.problems.push(
      `--${name}: a bucket holds files alone: name it with ${flag}, and here a folder or postgres://…`,
    )
    return null
  }
  if (SERVER.test(text)) return readServer(name, password, reading)
  const folder = readFlag(name, path, reading)
  return folder === null ? null : { kind: 'folder', path: folder }
}

function readServer(name: string, password: string | null, reading: Reading): MovePlace | null {
  const address = readFlag(name, databaseUrl, reading)
  if (address === null) return null
  if (address.password !== null)
    reading.shell.say(
      `oncebox: warning: while the password stands in --${name}, other users of this machine may see it: ONCEBOX_DATABASE_PASSWORD_FILE hides it.`,
    )
  return { kind: 'postgres', address: { ...address, password: address.password ?? password } }
}

/** Null when it was not given, or is wrong, which is then among the problems. */
function readFlag<T>(name: string, parse: Parser<T>, { command, shell, problems }: Reading): T | null {
  const text = textFlag(command, name)
  if (text === undefined) return null
  const parsed = parse(text, shell.place)
  if ('value' in parsed) return parsed.value
  const shown = parsed.isSecret ? '' : ` ${JSON.stringify(text)}`
  problems.push(`--${name}${shown}: ${parsed.problem}`)
  return null
}

type Secrets = { s3AccessKeyId: string | null; s3SecretAccessKey: string | null }

function readBucket(name: string, secrets: Secrets | null, reading: Reading): BucketSettings | null {
  const filesUrl = readFlag(name, bucketUrl, reading)
  if (filesUrl === null || secrets === null) return null
  const found = bucketSettingsOf({ ...secrets, filesUrl })
  if (found === null)
    reading.problems.push(
      `--${name} needs the access key of the bucket: ONCEBOX_S3_ACCESS_KEY_ID and ONCEBOX_S3_SECRET_ACCESS_KEY, or files named ` +
        'by ONCEBOX_S3_ACCESS_KEY_ID_FILE and ONCEBOX_S3_SECRET_ACCESS_KEY_FILE',
    )
  return found
}
