// Notes about interrupted downloads, so that the same command can resume them without another view.

import { createHash } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createOwnFile, openOwnFile } from './own-files.ts'

/** The files of one push that are not complete yet. */
export type Unfinished = {
  /** Whether the push has more than one file. */
  several: boolean
  files: UnfinishedFile[]
}

export type UnfinishedFile = {
  /** The name that the file will get here. */
  filename: string
  /** The sender's name for the file. */
  sentAs: string
  url: string
  size: number | null
  /** Name of the partial file, in the same folder as the note. */
  part: string
}

/** Reads and writes the note for a link in `folder`. Its file name does not reveal the link. */
export function createUnfinishedNotes({ folder, link }: { folder: string; link: string }) {
  const id = createHash('sha256').update(link).digest('hex').slice(0, 16)
  const path = join(folder, `.oncebox-${id}.json`)

  async function find(): Promise<Unfinished | null> {
    const note = await openOwnFile(path)
    if (note === null) return null
    try {
      return parse(JSON.parse(await note.readFile('utf8')))
    } catch {
      return null
    } finally {
      await note.close()
    }
  }

  async function write(unfinished: Unfinished): Promise<void> {
    const fresh = await createOwnFile(`${path}.new`)
    await fresh.writeFile(JSON.stringify(unfinished)).finally(() => fresh.close())
    await rename(`${path}.new`, path)
  }

  /** Also removes the partial files of `unfinished`, if given. */
  async function remove(unfinished?: Unfinished): Promise<void> {
    for (const { part } of unfinished?.files ?? []) await rm(join(folder, part), { force: true })
    await rm(path, { force: true })
  }

  return {
    find,
    write,
    remove,
    /** Hidden, like the note. */
    partName: (index: number) => `.oncebox-${id}-${index}.part`,
  }
}

/** Null for a note that another version of this program wrote. */
function parse(note: unknown): Unfinished | null {
  if (typeof note !== 'object' || note === null) return null
  const { files, several } = note as Record<string, unknown>
  if (!Array.isArray(files) || !files.every(isFile)) return null
  return { files, several: several === true }
}

function isFile(file: unknown): file is UnfinishedFile {
  if (typeof file !== 'object' || file === null) return false
  const { filename, sentAs, url, size, part } = file as Record<string, unknown>
  const isPart = typeof part === 'string' && /^\.oncebox-[\w-]+\.part$/.test(part)
  const isSize = size === null || typeof size === 'number'
  const isUrl = typeof url === 'string' && /^https?:\/\//i.test(url)
  return typeof filename === 'string' && typeof sentAs === 'string' && isUrl && isPart && isSize
}
