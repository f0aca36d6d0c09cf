// Looks at an unpacked backup: whether it is whole, opens nothing, and fits its key.

import { join } from 'node:path'
import { type Keyring, parseKeyFile } from '../../crypto/keyring.ts'
import { DomainError } from '../../domain/errors.ts'
import { readKeyFile } from '../../store/folder/key-file.ts'
import {
  type BackupContent,
  openUnpackedStore,
  type UnpackedStore,
} from '../../store/opening/unpacked-store.ts'
import type { Unpacked } from './unpack.ts'

export type ExamineOptions = {
  file: string
  /** Where it was unpacked. */
  folder: string
  /** The key file for a backup without its key; null without one. */
  keyFile: string | null
  now: number
  /** Called once the database is open, which goes on if its file is removed then. */
  onOpened?: () => unknown
}

/** `key`: whose keys fit the database; `none` when neither the backup has any nor a file was named. */
export type Examined = {
  store: UnpackedStore
  content: BackupContent
  key: 'in the backup' | 'in the file' | 'none'
}

/** Throws `conflict` when the backup cannot be restored. The caller closes the store. */
export async function examineUnpacked(unpacked: Unpacked, options: ExamineOptions): Promise<Examined> {
  const { file, folder, keyFile, now } = options
  const store = openUnpackedStore(join(folder, 'oncebox.db'), file)
  try {
    options.onOpened?.()
    const key = verifyKey(unpacked, { store, file, keyFile })
    const content = await store.read(now)
    requireTold(unpacked, { content, schema: store.schema, file })
    return { store, content, key }
  } catch (cause) {
    store.close()
    throw cause
  }
}

type Verifying = { store: Pick<UnpackedStore, 'requireKeys'>; file: string; keyFile: string | null }

/** A key file that is named decides, because the server will use that one. */
function verifyKey({ instanceKey }: Unpacked, { store, file, keyFile }: Verifying): Examined['key'] {
  if (instanceKey !== null) fit(store, parseOwn(instanceKey, file), `The instance key in ${file}`)
  if (keyFile !== null) fit(store, readKeyFile(keyFile), `The key file ${keyFile}`)
  if (keyFile !== null) return 'in the file'
  return instanceKey === null ? 'none' : 'in the backup'
}

function fit(store: Verifying['store'], keyring: Keyring, name: string): void {
  try {
    store.requireKeys(keyring)
  } catch (cause) {
    if (!(cause instanceof DomainError)) throw cause
    throw new DomainError('conflict', `${name} does not fit the database in the backup. ${cause.message}`)
  }
}

function parseOwn(text: string, file: string): Keyring {
  try {
    return parseKeyFile(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new DomainError('conflict', `The instance key in ${file} cannot be read: ${why}.`)
  }
}

type Found = { content: BackupContent; schema: number; file: string }

function requireTold({ manifest }: Unpacked, { content, schema, file }: Found): void {
  const isTrue =
    manifest.accounts === content.accounts && manifest.pushes === content.pushes && manifest.schema === schema
  if (isTrue) return
  throw new DomainError(
    'conflict',
    `The backup ${file} was altered: its manifest tells of other numbers than its database holds.`,
  )
}
