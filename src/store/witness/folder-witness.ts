// What a node remembers of its database in its data folder, so that a later start notices a database that was set back.

import { DomainError } from '../../domain/errors.ts'
import { createClosedFile } from '../folder/closed-file.ts'
import { dataFolder } from '../folder/data-folder.ts'
import { parseWitness, presentWitness, type SavedWitness } from './saved-witness.ts'

export type FolderWitness = {
  path: string
  /** Null in a folder that was never served. Throws `conflict` for a file that cannot be read. */
  read(): Promise<SavedWitness | null>
  /** Survives a power cut. */
  write(witness: SavedWitness): Promise<void>
}

export function createFolderWitness(dataDir: string): FolderWitness {
  const file = createClosedFile(dataFolder(dataDir).witness)

  async function read(): Promise<SavedWitness | null> {
    const text = await file.read()
    if (text === null) return null
    const found = parseWitness(text)
    if (found !== null) return found
    throw new DomainError(
      'conflict',
      `The file ${file.path} is damaged: it tells whether the database was set back. If you know that it was not, remove the ` +
        'file and start again; otherwise run "oncebox after-restore", which expires every push.',
    )
  }

  return { path: file.path, read, write: (witness) => file.write(presentWitness(witness)) }
}
