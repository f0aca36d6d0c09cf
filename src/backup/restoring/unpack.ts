// Puts the parts of a backup into a folder of their own, while it is read.

import { type FileHandle, open, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { DomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { CURRENT_SCHEMA } from '../../store/sqlite/engine/migrate.ts'
import type { BackupMember, Manifest } from '../manifest.ts'
import { type MemberSink, readBackup } from '../reading.ts'
import type { SealKind } from '../sealing.ts'
import { type Opening, openerFor, requireNoneGiven } from './opening.ts'

export type UnpackOptions = {
  /** Names the backup in messages: its path. */
  file: string
  /** Empty, and nobody else can enter it. */
  folder: string
  /** Whose disk it is on, as the person knows it. */
  place: string
  opening: Opening
  /** Told how many bytes of the members have come, of how many. */
  onProgress: (done: number, total: number) => void
}

export type Unpacked = {
  manifest: Manifest
  seal: SealKind
  /** The settings in effect when it was made, as JSON. */
  settings: string
  /** The text of the instance key; null when the backup was made without it. */
  instanceKey: string | null
  hasAuthority: boolean
}

/** Throws `conflict` when the backup is damaged, altered or newer than this program, and `disk_full` without room for it. */
export async function unpackBackup(
  source: ReadableStream<Uint8Array>,
  { file, folder, place, opening, onProgress }: UnpackOptions,
): Promise<Unpacked> {
  const texts = new Map<string, string>()
  const files: FileHandle[] = []
  let seal: SealKind = 'none'
  let [done, total] = [0, 0]
  const count = (bytes: number) => {
    done += bytes
    onProgress(done, total)
  }
  try {
    const manifest = await readBackup(source, {
      file,
      getOpener: (kind) => {
        seal = kind
        return openerFor(kind, { file, opening })
      },
      onManifest: async (told) => {
        if (seal === 'none') requireNoneGiven(opening, file)
        requireKnownSchema(told, file)
        total = told.members.reduce((sum, { bytes }) => sum + bytes, 0)
        await requireRoom({ folder, place }, total)
      },
      onMember: (member) =>
        isText(member) ? collect(member, { folder, texts, count }) : save(member, { folder, files, count }),
    })
    return {
      manifest,
      seal,
      settings: texts.get('settings.json') ?? '{}',
      instanceKey: texts.get('instance.key') ?? null,
      hasAuthority: manifest.members.some(({ name }) => name === 'tls-authority.pem'),
    }
  } catch (cause) {
    throw explainFull(cause, place)
  } finally {
    for (const opened of files) await opened.close()
  }
}

function requireKnownSchema({ schema, version }: Manifest, file: string): void {
  if (schema <= CURRENT_SCHEMA) return
  const known = `its schema is version ${schema}, and this program knows ${CURRENT_SCHEMA}`
  throw new DomainError(
    'conflict',
    `${file} was made by Oncebox ${version}, which is newer: ${known}. Use that one.`,
  )
}

type Where = Pick<UnpackOptions, 'folder' | 'place'>

async function requireRoom({ folder, place }: Where, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < bytes) throw full(place)
}

/** What a full disk refuses; any other cause as it is. */
export function explainFull(cause: unknown, place: string): unknown {
  return /^(ENOSPC|EDQUOT|EFBIG|SQLITE_FULL)/.test(codeOf(cause)) ? full(place) : cause
}

function full(place: string): DomainError {
  return new DomainError(
    'disk_full',
    `The disk of ${place} has no room for what is in the backup. Nothing was kept of it.`,
  )
}

type Saving = { folder: string; count: (bytes: number) => void }

/** The key is needed for checks, and lies in no file until it fits. Settings lie in none at all. */
function isText({ name }: BackupMember): boolean {
  return name === 'settings.json' || name === 'instance.key'
}

function collect(
  { name }: BackupMember,
  { texts, count }: Saving & { texts: Map<string, string> },
): MemberSink {
  const pieces: Uint8Array[] = []
  return {
    write: (piece) => {
      pieces.push(piece)
      count(piece.length)
    },
    end: () => void texts.set(name, Buffer.concat(pieces).toString('utf8')),
  }
}

/** The caller closes the files. */
async function save(
  { name }: BackupMember,
  { folder, files, count }: Saving & { files: FileHandle[] },
): Promise<MemberSink> {
  const file = await open(join(folder, name), 'wx', 0o600)
  files.push(file)
  return {
    write: async (piece) => {
      await writeAll(file, piece)
      count(piece.length)
    },
  }
}

/** A write to a disk that is nearly full may take a part only. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
}
