// A text that is made while it is sent, for the browser to save.

import { answerAttachment } from '../../http/answers.ts'

/** Reads the first piece before the answer begins, so that damage there is an error and not a short file. */
export async function attach(
  pieces: AsyncIterator<string>,
  { type, filename }: { type: string; filename: string },
): Promise<Response> {
  const encoder = new TextEncoder()
  let next = await pieces.next()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next.done === true) return controller.close()
      controller.enqueue(encoder.encode(next.value))
      next = await pieces.next()
    },
  })
  return answerAttachment(body, { type, filename })
}
