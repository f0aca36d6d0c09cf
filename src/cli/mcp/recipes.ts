// Runs the command of a recipe with a secret, and returns no more of its output than the recipe allows.

import { programEnvironment, withUmask } from '../exec/program.ts'
import type { Shell } from '../shell.ts'
import type { Recipe } from './configuration.ts'
import { hideSecret } from './redaction.ts'

type RecipeEnd = { exit_code: number | null; timed_out: boolean; seconds: number; output?: string }

type Run = { recipe: Recipe; path: string; secret: Uint8Array; tokens: readonly string[]; shell: Shell }

/** How long a descendant process may keep the output open after the command has ended. */
const LAST_OUTPUT_MS = 500

/** `path`: of the program. `tokens`: of links that the command must not find in its environment. */
export async function runRecipe({ recipe, path, secret, tokens, shell }: Run): Promise<RecipeEnd> {
  const { argv, output: maxBytes, timeout } = recipe
  const isInput = recipe.secret === 'stdin'
  const env = programEnvironment(shell.os.env, { tokens })
  if (!isInput) env[recipe.secret.slice('env:'.length)] = Buffer.from(secret).toString('utf8')
  const startedAt = performance.now()
  const stream = maxBytes === 0 ? 'ignore' : 'pipe'
  const streams = { stdin: isInput ? secret : 'ignore', stdout: stream, stderr: stream } as const
  // Run it in its own process group, so that the timeout can kill all of its processes.
  const options = { env, cwd: shell.os.home, detached: true, ...streams }
  const child = withUmask(shell.umask, () => Bun.spawn([path, ...argv.slice(1)], options))
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    endGroup(child)
  }, timeout * 1000)
  // Common encodings take up to eight characters per byte, such as &#x0041;.
  const hidden = 8 * secret.length + 64
  const reading = [child.stdout, child.stderr].flatMap((from) =>
    from ? [collect(from, maxBytes + hidden)] : [],
  )
  await child.exited
  clearTimeout(timer)
  await Promise.race([Promise.all(reading.map(({ done }) => done)), Bun.sleep(LAST_OUTPUT_MS)])
  const output = reading.map(({ text, isCut }) => {
    const shown = hideSecret(text(), Buffer.from(secret).toString('latin1'))
    // A cut may divide an appearance of the secret.
    return isCut() ? shown.slice(0, Math.max(0, shown.length - hidden)) : shown
  })
  return {
    ...{ exit_code: isLate ? null : child.exitCode, timed_out: isLate },
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
    ...(maxBytes === 0
      ? {}
      : { output: Buffer.from(output.join('').slice(0, maxBytes), 'latin1').toString('utf8') }),
  }
}

function endGroup(child: Bun.Subprocess): void {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Windows has no process groups.
    child.kill('SIGKILL')
  }
}

/**
 * Reads the stream to its end, so that the command never blocks on a full pipe, but keeps only the beginning.
 */
function collect(stream: ReadableStream<Uint8Array>, maxBytes: number) {
  const kept: Uint8Array[] = []
  let size = 0
  const read = async () => {
    for await (const chunk of stream) {
      if (size < maxBytes) kept.push(chunk)
      size += chunk.length
    }
  }
  const text = () => Buffer.concat(kept).subarray(0, maxBytes).toString('latin1')
  return { done: read().catch(() => undefined), text, isCut: () => size > maxBytes }
}
