// A small disk of its own for a test to fill.

import { makeFolder, removeFolder } from './binary.ts'

/** Throws when the system refuses. The disk and everything on it is gone after `remove`. */
export function mountSmallDisk(size: string) {
  const path = makeFolder()
  const { success, stderr } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path])
  if (!success) throw new Error(`mount was refused: ${stderr}`)
  const remove = () => {
    Bun.spawnSync(['umount', '-l', path])
    process.off('exit', remove)
    removeFolder(path)
  }
  process.prependListener('exit', remove)
  return { path, remove }
}
