// Problems with submitted values: a code with its limits, and the English message for the API.

/** Messages follow the name of the field: "Payload can't be blank". */
const PLAIN = {
  blank: "can't be blank",
  control_characters: 'must not contain control characters',
  not_plain_text: 'must be plain text',
  without_link: 'must contain {link}',
  not_email: 'must be an address such as ann@example.org',
  not_emails: 'must be addresses such as ann@example.org, separated by commas',
  needs_account: 'needs an account',
  passphrase_required_here: 'is required on this server (--require-passphrase)',
  domain_not_allowed: 'must be at a domain that --signup-domains lists',
  link_ended: 'would get a link that no longer works',
  too_weak: 'is easy to guess: take a few random words, or a longer one',
  email_taken: 'has an account already',
  not_text: 'must be a string',
  not_unicode: 'is not valid Unicode text',
  not_integer: 'must be an integer',
  not_boolean: 'must be true or false',
  not_web_address: 'must be an absolute http or https URL',
  not_webhook_url: 'must be an absolute http or https URL without a user name or password',
  host_not_listed: 'must be at a host that --webhook-hosts lists',
  not_files: 'must be a list of {filename, content_type, data}, data in base64',
  files_disabled: 'are disabled on this server',
  not_recipient: 'must be a public key of age, which begins with age1, such as age-keygen prints',
  not_encrypted: 'must be one ASCII-armoured age file, because end_to_end is true',
  not_encrypted_list: 'must be age files, because end_to_end is true',
  not_key_check: 'must be 8 hex digits',
  only_end_to_end: 'is only for a push with end_to_end',
  link_needs_key:
    'would get a link that lacks its key: send end_to_end with recipients_only, and without key_check, if no key belongs to the link',
  end_to_end_off: 'is not offered by this server (its setting --end-to-end is "off")',
  end_to_end_required: 'must be true on this server (its setting --end-to-end is "required")',
  recipient_required:
    'must be a public key of age on this server, here or in the account (its setting --end-to-end is "required")',
  unavailable: 'is not available',
  unavailable_list: 'are not available',
  cannot_change: "can't be changed",
  not_asked: 'is not asked for',
  not_asked_list: 'are not asked for',
  no_member: 'is no member of an answer, which has payload, files, passphrase and end_to_end',
  ended: "can't be changed, because the push has expired",
  lives_longer: 'would let the push live longer',
  has_passed: 'has passed already; to end the push now, delete it',
  key_reused: 'was used with other fields before',
} as const

/** Messages with a placeholder for the limit. */
const LIMITED = {
  too_long_bytes: 'is too long (at most {} bytes)',
  too_long_characters: 'is too long (at most {} characters)',
  too_short: 'must have at least {} characters',
  too_many_files: 'are too many (at most {}; --max-files raises this)',
  too_many_tokens: 'are too many (at most {})',
  too_many_webhooks: 'is one too many (at most {} webhooks)',
  too_many_recipients: 'are too many (at most {})',
  filename_too_long: 'have a name that is too long (at most {} characters)',
  too_many_days: 'must be at most {} days',
  too_many_views: 'must be at most {} without an account (--max-views-anonymous)',
  too_few_days: 'must be at least {} days',
} as const

/** Messages with a placeholder for the kinds. */
const OF_KINDS = {
  unknown_kind: 'must be one of {}',
  kind_disabled: '"{}" is disabled on this server',
} as const

export type Problem =
  | { code: keyof typeof PLAIN }
  | { code: keyof typeof LIMITED; limit: number }
  | { code: keyof typeof OF_KINDS; kinds: string }
  | { code: 'out_of_range'; min: number; max: number }

/** Problems by field, in the API's names, in the order in which they were found. */
export type Problems = Record<string, Problem[]>

export function explainProblem(problem: Problem): string {
  if ('limit' in problem) return LIMITED[problem.code].replace('{}', `${problem.limit}`)
  if ('kinds' in problem) return OF_KINDS[problem.code].replace('{}', problem.kinds)
  return 'min' in problem ? `must be between ${problem.min} and ${problem.max}` : PLAIN[problem.code]
}
