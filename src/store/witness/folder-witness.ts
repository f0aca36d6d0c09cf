// What a node remembers of its database in its data folder, so that a later start notices a database that was set back.

import { readFileSync } from 'node:fs'
import { DomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { createClosedFile } from '../folder/closed-file.ts'
import { dataFolder } from '../folder/data-folder.ts'
import { asOwner } from '../folder/ownership.ts'
import { parseWitness, presentWitness, type SavedWitness } from './saved-witness.ts'

export type FolderWitness = {
  path: string
  /** Null in a folder that was never served. Throws `conflict` for a file that cannot be read. */
  read(): Promise<SavedWitness | null>
  /** The same for a command that another user may run, root among them. */
  look(): SavedWitness | null
  /** Survives a power cut. */
  write(witness: SavedWitness): Promise<void>
}

export function createFolderWitness(dataDir: string): FolderWitness {
  const file = createClosedFile(dataFolder(dataDir).witness)

  function parse(text: string | null): SavedWitness | null {
    if (text === null) return null
    const found = parseWitness(text)
    if (found !== null) return found
    throw new DomainError(
      'conflict',
      `The file ${file.path} is damaged: it tells whether the database was set back. If you know that it was not, remove the ` +
        'file and start again; otherwise run "oncebox after-restore", which expires every push.',
    )
  }

  return {
    path: file.path,
    read: async () => parse(await file.read()),
    look: () => parse(asOwner(dataDir, () => readIfThere(file.path))),
    write: (witness) => file.write(presentWitness(witness)),
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(cause))) return null
    throw cause
  }
}
