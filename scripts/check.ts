// Runs the steps of `npm run check`, fastest to fail first; with `-- lint types` only the named ones.
// The last line sums up the tests, `N passed, M failed`. Any other failed step counts as one failure.

import { delimiter, join } from 'node:path'
import { BY_THEMSELVES, commandOf, QUICK, WHOLE } from './tests.ts'

const PROJECT = join(import.meta.dir, '..')
const TOOLS = join(PROJECT, 'node_modules', '.bin')
const BUN = process.execPath

const steps = {
  // By default Biome writes colours even to a file.
  lint: {
    command: ['biome', 'ci', '.', ...(process.stdout.isTTY ? [] : ['--colors=off'])],
    tests: false,
  },
  // With threads, it checks most files twice, which takes 50 % more CPU time.
  types: { command: ['tsc', '--noEmit', '--singleThreaded'], tests: false },
  readme: { command: [BUN, 'scripts/readme.ts', '--check'], tests: false },
  licenses: { command: [BUN, 'scripts/licenses.ts', '--check'], tests: false },
  quick: { command: commandOf(QUICK, BUN), tests: true },
  build: { command: [BUN, 'scripts/build.ts'], tests: false },
  next: { command: [BUN, 'scripts/chaos/next-version.ts'], tests: false },
  slow: { command: commandOf(WHOLE, BUN), tests: true },
  alone: { command: commandOf(BY_THEMSELVES, BUN), tests: true },
}

type StepName = keyof typeof steps

interface Outcome {
  readonly passed: number
  readonly failed: number
}

async function runStep(name: StepName): Promise<Outcome> {
  const { command, tests } = steps[name]
  console.log(`\n== ${name}`)
  const env = { ...process.env, PATH: `${TOOLS}${delimiter}${process.env.PATH ?? ''}` }
  const [program = '', ...flags] = command
  const found = Bun.which(program, { PATH: env.PATH })
  if (found === null) throw new Error(`${program} is not installed: npm ci`)

  const child = Bun.spawn([found, ...flags], {
    cwd: PROJECT,
    env,
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: tests ? 'pipe' : 'inherit',
  })
  const printed = child.stderr instanceof ReadableStream ? await passOn(child.stderr) : ''
  const code = await child.exited
  const { passed, failed } = readSummary(printed)
  // A run that ends with an error but without a failed test (a crash, no tests at all) counts as failed.
  return { passed, failed: code === 0 ? failed : Math.max(1, failed) }
}

/**
 * Copies the stream to our standard error as it arrives, and returns it, because it contains Bun's summary.
 */
async function passOn(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let printed = ''
  for await (const bytes of stream) {
    process.stderr.write(bytes)
    printed += decoder.decode(bytes, { stream: true })
  }
  return printed
}

/**
 * Returns the counts of the last summary. Bun's JUnit report omits files that fail to load.
 */
function readSummary(printed: string): Outcome {
  const count = (word: string) => printed.match(new RegExp(`^ *\\d+ ${word}$`, 'gm'))?.at(-1) ?? '0'
  return { passed: Number.parseInt(count('pass'), 10), failed: Number.parseInt(count('fail'), 10) }
}

function isStepName(word: string): word is StepName {
  return Object.hasOwn(steps, word)
}

async function check(words: readonly string[]): Promise<Outcome> {
  const names = words.length > 0 ? words : Object.keys(steps)
  let passed = 0
  for (const name of names) {
    if (!isStepName(name))
      throw new Error(`unknown step ${name}; the steps are ${Object.keys(steps).join(', ')}`)
    const outcome = await runStep(name)
    passed += outcome.passed
    if (outcome.failed > 0) {
      console.log(`\n${name} failed`)
      return { passed, failed: outcome.failed }
    }
  }
  return { passed, failed: 0 }
}

const { passed, failed } = await check(process.argv.slice(2)).catch((cause) => {
  console.error(cause instanceof Error ? cause.message : cause)
  return { passed: 0, failed: 1 }
})
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
