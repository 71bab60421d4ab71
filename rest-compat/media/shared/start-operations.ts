import type { Immutable, Operation } from '../../documents/graphql.ts';
import { DescribeImage } from '../../documents/media/start.ts';
import type { TaskFields } from '../../documents/media/task.ts';
import type { Envelope } from '../../replies/envelopes.ts';
import { submitted, taskReply } from '../../replies/task.ts';
import { route } from '../../route/define-route.ts';
import type { Params, Values } from '../../route/param.ts';
import { file, form } from '../../route/params.ts';
import type { BodySpec, ResponseSchemaName, Route } from '../../route/route.ts';
import { multipart, urlencoded, vendorOptions } from './inputs.ts';

/** The two ways to start a task: reply its id at once, or wait for its end. */

interface StartSpec<Variables, P extends Params> {
  readonly path: string;
  readonly deprecated?: true;
  /** Not in the documents: added by us. */
  readonly extension?: true;
  readonly summary?: string;
  readonly params: P;
  readonly body: BodySpec;
  readonly variables: (input: Values<P>) => Immutable<Variables>;
}

/** An operation that starts a task with this document, and replies its id. */
export function submission<Data extends Readonly<Record<string, { id: string }>>, Variables extends object>(
  document: Operation<Data, Variables>,
) {
  return function at<P extends Params>(spec: StartSpec<Variables, P>): Route {
    return route(document)({
      method: 'POST',
      ...spec,
      responseSchema: 'Submission',
      reply: (data) => submitted(readTaskFields(data)),
    });
  };
}

/** How the end of a task is replied; as media when absent. */
interface ResultReply {
  readonly responseSchema: ResponseSchemaName;
  readonly reply: (task: TaskFields) => Envelope;
}

/** An operation that starts a task with this document, and replies its result once it has ended. */
export function synchronous<Data extends Readonly<Record<string, object>>, Variables extends object>(
  document: Operation<Data, Variables>,
  { responseSchema, reply }: ResultReply = { responseSchema: 'MediaTask', reply: taskReply },
) {
  return function at<P extends Params>({
    maxWait,
    ...spec
  }: StartSpec<Variables, P> & { readonly maxWait?: keyof P & string }): Route {
    return route(document)({
      method: 'POST',
      ...spec,
      wait: maxWait === undefined ? {} : { maxWait },
      responseSchema,
      reply: (data) => reply(readTaskFields(data)),
    });
  };
}

/** The task of a document's one root field. */
function readTaskFields(data: object): TaskFields {
  return Object.values(data)[0] as TaskFields;
}

/** The operations that put an image into words, for the current and the older group of generator A. */

interface DescribeOperation {
  readonly path: string;
  readonly generator: string;
  readonly deprecated?: true;
}

const described = synchronous(DescribeImage, { responseSchema: 'DescriptionTask', reply: taskReply });

/** Describes an image given by its link, and waits for the prompts. */
export function describeLink({ generator, ...shown }: DescribeOperation): Route {
  return described({
    ...shown,
    params: { img_url: form.url(), ...vendorOptions },
    body: urlencoded,
    variables: ({ img_url, options }) => ({ generator, image: { url: img_url }, options }),
  });
}

/** Describes an image that is sent along, and waits for the prompts. */
export function describeFile({ generator, ...shown }: DescribeOperation): Route {
  return described({
    ...shown,
    params: { img_file: file(), ...vendorOptions },
    body: multipart,
    variables: ({ img_file, options }) => ({ generator, image: { fileId: img_file.id }, options }),
  });
}
