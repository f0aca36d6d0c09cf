// A small file system in memory that a test can fill.

import { makeFolder, removeFolder } from './binary.ts'

/** Mounts the file system; throws when the system refuses. `remove` unmounts it. */
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
