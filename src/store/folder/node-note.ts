// What a node writes down in its data folder, by which it knows its row in the database again.

import { DomainError } from '../../domain/errors.ts'
import { createClosedFile } from './closed-file.ts'
import { dataFolder } from './data-folder.ts'

export type NodeNote = {
  /** The tag of the instance. Copies of its database have the same. */
  instance: string
  /** When all pushes there were expired last, in milliseconds since 1970; 0 for never. */
  expiredAllAt: number
  /** The id of the node, in hex. */
  node: string
  /** The mark that its row had last, and the one that it gets next: one of the two is there. */
  last: string
  next: string
}

export type NodeNoteFile = {
  path: string
  /** Null in a folder that was never served. Throws `conflict` for a file that cannot be read. */
  read(): Promise<NodeNote | null>
  /** Survives a power cut. */
  write(note: NodeNote): Promise<void>
}

export function createNodeNoteFile(dataDir: string): NodeNoteFile {
  const file = createClosedFile(dataFolder(dataDir).node)

  async function read(): Promise<NodeNote | null> {
    const text = await file.read()
    if (text === null) return null
    const note = parseNote(text)
    if (note !== null) return note
    throw new DomainError(
      'conflict',
      `The file ${file.path} is damaged: it tells whether the database was set back. If you know that it was not, remove the ` +
        'file and start again.',
    )
  }

  return { path: file.path, read, write: (note) => file.write(`${JSON.stringify(note)}\n`) }
}

const MARK = /^[0-9a-f]{32}$/

function parseNote(text: string): NodeNote | null {
  try {
    const { instance, expiredAllAt, node, last, next } = JSON.parse(text)
    const isNote =
      typeof instance === 'string' &&
      Number.isSafeInteger(expiredAllAt) &&
      [node, last, next].every((mark) => typeof mark === 'string' && MARK.test(mark))
    return isNote ? { instance, expiredAllAt, node, last, next } : null
  } catch {
    return null
  }
}
