/** The named schemas of the media service's OpenAPI document. */
export const components = {
  schemas: {
    Envelope: {
      type: 'object',
      title: 'Envelope',
      required: ['status', 'data', 'msg'],
      properties: {
        status: {
          anyOf: [{ type: 'boolean' }, { type: 'string' }],
          description:
            'true: success or finished. false: failure, or finished with failure. A string: the task still runs, and this names its state (queued, running).',
        },
        data: { description: 'The payload: the task id on submission, the result when finished.' },
        msg: { type: 'string', description: 'What happened, for people.' },
        extra: { description: 'Further information, on operations that have some.' },
      },
    },
    PagedTemplates: {
      type: 'object',
      title: 'PagedTemplates',
      required: ['status', 'data', 'page', 'page_size', 'total', 'total_pages'],
      properties: {
        status: { type: 'boolean' },
        data: { type: 'array', items: { type: 'object', additionalProperties: true } },
        page: { type: 'integer' },
        page_size: { type: 'integer' },
        total: { type: 'integer', description: 'Records over all pages.' },
        total_pages: { type: 'integer' },
      },
    },
    HTTPValidationError: {
      type: 'object',
      title: 'HTTPValidationError',
      properties: {
        detail: {
          type: 'array',
          title: 'Detail',
          items: { $ref: '#/components/schemas/ValidationError' },
        },
      },
    },
    ValidationError: {
      type: 'object',
      title: 'ValidationError',
      required: ['loc', 'msg', 'type'],
      properties: {
        loc: {
          type: 'array',
          title: 'Location',
          items: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
        },
        msg: { type: 'string', title: 'Message' },
        type: { type: 'string', title: 'Error Type' },
      },
    },
  },
} as const;

const envelope = {
  code: { type: 'integer', description: 'The HTTP status.' },
  message: { type: 'string', description: 'What happened, for people.' },
  data: {
    description:
      'The payload; absent where there is none. Of an answer with status 400: {issues: [{in, field, message}]}.',
  },
  timestamp: { type: 'string', format: 'date-time' },
  traceId: { type: 'string', description: 'Leads to the lines of the log.' },
} as const;

const always = ['code', 'message', 'timestamp', 'traceId'] as const;

/** The named schemas of the workflow service's OpenAPI document. */
export const workflowComponents = {
  schemas: {
    Envelope: { type: 'object', title: 'Envelope', required: always, properties: envelope },
    SignInEnvelope: {
      type: 'object',
      title: 'SignInEnvelope',
      required: ['success', ...always],
      properties: { success: { type: 'boolean', description: 'Whether it worked.' }, ...envelope },
    },
    JsonWebKeySet: {
      type: 'object',
      title: 'JsonWebKeySet',
      required: ['keys'],
      properties: { keys: { type: 'array', items: { type: 'object', additionalProperties: true } } },
    },
  },
} as const;
