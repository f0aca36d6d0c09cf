// The manifest of a backup: its first member, which lists the others.

import { damagedBackup, unfitBackup } from './refusals.ts'

export const MANIFEST = 'manifest.json'

/** What a backup may hold after its manifest, in this order, and the most bytes that each may have. */
const MEMBERS = {
  'settings.json': 1024 * 1024,
  'instance.key': 64 * 1024,
  'tls-authority.pem': 256 * 1024,
  'oncebox.db': Number.MAX_SAFE_INTEGER,
} as const

/** Every backup holds these. The others are optional. */
const REQUIRED: readonly MemberName[] = ['settings.json', 'oncebox.db']
const FORMAT = 1
const PROGRAM = 'oncebox'

export type MemberName = keyof typeof MEMBERS

/** `sha256` in lower-case hexadecimal digits. */
export type BackupMember = { name: MemberName; bytes: number; sha256: string }

export type BackupFacts = {
  /** Of the program that made it. */
  version: string
  /** The version of the database's schema. */
  schema: number
  /** ISO 8601 in UTC. */
  madeAt: string
  pushes: number
  accounts: number
}

export type Manifest = BackupFacts & {
  format: typeof FORMAT
  program: typeof PROGRAM
  members: readonly BackupMember[]
}

/** Throws when the members are not those of a backup in their order. */
export function createManifest(facts: BackupFacts, members: readonly BackupMember[]): Manifest {
  const { version, schema, madeAt, pushes, accounts } = facts
  const manifest: Manifest = {
    format: FORMAT,
    program: PROGRAM,
    version,
    schema,
    madeAt,
    pushes,
    accounts,
    members: members.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 })),
  }
  const problem = findProblem(manifest.members)
  if (problem !== null) throw new Error(`cannot make a backup: ${problem}`)
  return manifest
}

/** `file` names the backup in refusals. Throws `conflict` for anything but a manifest of this format. */
export function parseManifest(text: string, file: string): Manifest {
  const read = { format: 0, program: '', version: '', ...parseObject(text, file) }
  const { format, program, version } = read
  if (program !== PROGRAM) throw unfitBackup(file, 'its manifest is not one of Oncebox')
  if (typeof format === 'number' && format > FORMAT) {
    const maker = typeof version === 'string' ? printable(version) : ''
    throw unfitBackup(
      file,
      `it was made by a later version (${maker}, format ${format}) than this program knows`,
    )
  }
  if (format !== FORMAT) throw damagedBackup(file, 'its manifest names no format that exists')
  const facts = parseFacts(read)
  if (facts === null)
    throw damagedBackup(file, 'a value is missing in its manifest, or is none that it can have')
  return { format, program, ...facts, members: parseMembers(read, file) }
}

function parseObject(text: string, file: string): object {
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read === 'object' && read !== null) return read
  } catch {
    // Refused below, like what is JSON and no object.
  }
  throw damagedBackup(file, 'its manifest is not readable')
}

function parseFacts(read: object): BackupFacts | null {
  const { version, schema, madeAt, pushes, accounts } = {
    ...{ version: null, schema: null, madeAt: null, pushes: null, accounts: null },
    ...read,
  }
  const areWords = isWord(version) && isWord(madeAt) && isTime(madeAt)
  if (!areWords || !isCount(schema) || schema === 0 || !isCount(pushes) || !isCount(accounts)) return null
  return { version, schema, madeAt, pushes, accounts }
}

function parseMembers(read: object, file: string): BackupMember[] {
  const { members } = { members: null, ...read }
  const listed: readonly unknown[] = Array.isArray(members) ? members : []
  const parsed = listed.map(parseMember)
  const known = parsed.filter((member) => member !== null)
  if (known.length < parsed.length)
    throw damagedBackup(file, 'its manifest lists a member that no backup has')
  const problem = findProblem(known)
  if (problem !== null) throw damagedBackup(file, `by its manifest ${problem}`)
  return known
}

function parseMember(read: unknown): BackupMember | null {
  if (typeof read !== 'object' || read === null) return null
  const { name, bytes, sha256 } = { name: null, bytes: null, sha256: null, ...read }
  const isWhole = isMemberName(name) && isCount(bytes) && isDigest(sha256)
  return isWhole ? { name, bytes, sha256 } : null
}

/** What is wrong with a list of members; null when nothing is. */
function findProblem(members: readonly BackupMember[]): string | null {
  const names = members.map(({ name }) => name)
  const missing = REQUIRED.find((name) => !names.includes(name))
  if (missing !== undefined) return `${missing} is missing`
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `${twice} is in it twice`
  const large = members.find(({ name, bytes }) => bytes > MEMBERS[name])
  if (large !== undefined) return `${large.name} is larger than such a file can be`
  const inOrder = Object.keys(MEMBERS).filter((name) => names.some((other) => other === name))
  return inOrder.join() === names.join() ? null : 'the members are not in their order'
}

function isMemberName(value: unknown): value is MemberName {
  return typeof value === 'string' && Object.hasOwn(MEMBERS, value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

/** Printed to terminals later on. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,64}$/.test(value)
}

function isTime(text: string): boolean {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString() === text
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '').slice(0, 64)
}
