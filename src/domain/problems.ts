// Problems with given values: a code with its limits, and the English message for the API.

export type Problem =
  | { code: 'blank' | 'not_text' | 'not_unicode' | 'not_integer' | 'not_boolean' | 'not_web_address' }
  | { code: 'without_link' }
  | { code: 'control_characters' | 'not_email' | 'email_taken' }
  | { code: 'cannot_change' | 'ended' | 'lives_longer' | 'has_passed' }
  | { code: 'not_files' | 'files_disabled' | 'unavailable' | 'unavailable_list' | 'key_reused' }
  | { code: 'too_long_bytes' | 'too_long_characters' | 'too_short'; limit: number }
  | {
      code: 'too_many_files' | 'too_many_tokens' | 'filename_too_long' | 'too_many_days' | 'too_few_days'
      limit: number
    }
  | { code: 'out_of_range'; min: number; max: number }
  | { code: 'unknown_kind' | 'kind_disabled'; kinds: string }

/** By field, in the API's names. A field's problems are in the order in which they were found. */
export type Problems = Record<string, Problem[]>

/** Text to follow the name of the field: "Payload can't be blank". */
export function explainProblem(problem: Problem): string {
  switch (problem.code) {
    case 'blank':
      return "can't be blank"
    case 'control_characters':
      return 'must not contain control characters'
    case 'without_link':
      return 'must contain {link}'
    case 'not_email':
      return 'must be an address such as ann@example.org'
    case 'email_taken':
      return 'has an account already'
    case 'not_text':
      return 'must be a string'
    case 'not_unicode':
      return 'is not valid Unicode text'
    case 'not_integer':
      return 'must be an integer'
    case 'not_boolean':
      return 'must be true or false'
    case 'not_web_address':
      return 'must be an absolute http or https URL'
    case 'not_files':
      return 'must be a list of {filename, content_type, data}, data in base64'
    case 'files_disabled':
      return 'are disabled on this server'
    case 'unavailable':
      return 'is not available'
    case 'unavailable_list':
      return 'are not available'
    case 'cannot_change':
      return "can't be changed"
    case 'ended':
      return "can't be changed, because the push has expired"
    case 'lives_longer':
      return 'would let the push live longer'
    case 'has_passed':
      return 'has passed already; to end the push now, delete it'
    case 'key_reused':
      return 'was used with other fields before'
    case 'too_long_bytes':
      return `is too long (at most ${problem.limit} bytes)`
    case 'too_long_characters':
      return `is too long (at most ${problem.limit} characters)`
    case 'too_short':
      return `must have at least ${problem.limit} characters`
    case 'too_many_files':
      return `are too many (at most ${problem.limit}; --max-files raises this)`
    case 'too_many_tokens':
      return `are too many (at most ${problem.limit})`
    case 'filename_too_long':
      return `have a name that is too long (at most ${problem.limit} characters)`
    case 'too_many_days':
      return `must be at most ${problem.limit} days`
    case 'too_few_days':
      return `must be at least ${problem.limit} days`
    case 'out_of_range':
      return `must be between ${problem.min} and ${problem.max}`
    case 'unknown_kind':
      return `must be one of ${problem.kinds}`
    case 'kind_disabled':
      return `"${problem.kinds}" is disabled on this server`
  }
}
