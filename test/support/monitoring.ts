// The metrics that the dashboard and the alert rules of the documentation ask for.

import { join } from 'node:path'
import type { Started } from './binary.ts'

const DOCS = join(import.meta.dir, '../../docs')
/** These are there with a database server or a bucket alone. */
const BEYOND = /^oncebox_(database|nodes|bucket)/

/** Their names: of one machine, and of what several nodes have besides. */
export async function listAskedMetrics(): Promise<{ usual: string[]; beyond: string[] }> {
  const pages = ['operating.md', 'beyond-one-machine.md', 'bucket.md']
  const files = ['grafana-dashboard.json', 'prometheus-alerts.yaml', ...pages]
  const texts = await Promise.all(files.map((name) => Bun.file(join(DOCS, name)).text()))
  const asked = texts.join('\n').match(/\b(oncebox|process)_[a-z]+_?[a-z_]*\b(?!\*)/g) ?? []
  const names = [...new Set(asked)].filter((name) => !name.endsWith('_'))
  return {
    usual: names.filter((name) => !BEYOND.test(name)),
    beyond: names.filter((name) => BEYOND.test(name)),
  }
}

/** Resolves to what a server that was started with `--metrics-listen` tells. */
export async function readMetrics(server: Pick<Started, 'stderr'>): Promise<string> {
  for (;;) {
    const [, url] = /serving metrics url="([^"]+)"/.exec(server.stderr()) ?? []
    if (url !== undefined) return (await fetch(url)).text()
    await Bun.sleep(5)
  }
}
