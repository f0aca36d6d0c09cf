// Downloads that broke off: a note beside them, so that the same command goes on without spending another view.

import { createHash } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The files of one push that are not there yet; `part` is a name within the folder. */
export type Unfinished = {
  /** Whether the push has more than one file. */
  several: boolean
  files: { filename: string; url: string; size: number | null; part: string }[]
}

export type UnfinishedNotes = ReturnType<typeof createUnfinishedNotes>

/** The note in `folder` on the push behind a link; its name does not tell the link. */
export function createUnfinishedNotes({ folder, link }: { folder: string; link: string }) {
  const id = createHash('sha256').update(link).digest('hex').slice(0, 16)
  const path = join(folder, `.oncebox-${id}.json`)

  async function find(): Promise<Unfinished | null> {
    try {
      return parse(JSON.parse(await readFile(path, 'utf8')))
    } catch {
      return null
    }
  }

  async function write(unfinished: Unfinished): Promise<void> {
    await writeFile(`${path}.new`, JSON.stringify(unfinished), { mode: 0o600 })
    await rename(`${path}.new`, path)
  }

  /** With the parts of what will not be finished any more. */
  async function remove(unfinished?: Unfinished): Promise<void> {
    for (const { part } of unfinished?.files ?? []) await rm(join(folder, part), { force: true })
    await rm(path, { force: true })
  }

  return {
    find,
    write,
    remove,
    /** Beside the note, and as hidden. */
    partName: (index: number) => `.oncebox-${id}-${index}.part`,
  }
}

/** Somebody may have put a note of their own there. */
function parse(note: unknown): Unfinished | null {
  if (typeof note !== 'object' || note === null) return null
  const { files, several } = note as Record<string, unknown>
  if (!Array.isArray(files) || !files.every(isFile)) return null
  return { files, several: several === true }
}

function isFile(file: unknown): file is Unfinished['files'][number] {
  if (typeof file !== 'object' || file === null) return false
  const { filename, url, size, part } = file as Record<string, unknown>
  const isPart = typeof part === 'string' && /^\.oncebox-[\w-]+\.part$/.test(part)
  const isSize = size === null || typeof size === 'number'
  const isUrl = typeof url === 'string' && /^https?:\/\//i.test(url)
  return typeof filename === 'string' && isUrl && isPart && isSize
}
