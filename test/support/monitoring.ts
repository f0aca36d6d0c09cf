// The metrics that the dashboard and the alert rules of the documentation ask for.

import { join } from 'node:path'
import type { Started } from './binary.ts'

const DOCS = join(import.meta.dir, '../../docs')
/** Matches metrics that exist only with a database server or a bucket. */
const BEYOND = /^oncebox_(database|nodes|bucket)/

/** Lists the metrics that the documents use: those of one machine, and those that exist only beyond that. */
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

/** Resolves to the metrics of a server that was started with `--metrics-listen`. */
export async function readMetrics(server: Pick<Started, 'stderr'>): Promise<string> {
  for (;;) {
    const [, url] = /serving metrics url="([^"]+)"/.exec(server.stderr()) ?? []
    if (url !== undefined) return (await fetch(url)).text()
    await Bun.sleep(5)
  }
}
