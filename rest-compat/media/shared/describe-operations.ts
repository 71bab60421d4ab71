import { DescribeImage } from '../../documents/media/start.ts';
import { taskReply } from '../../replies/task.ts';
import { file, form } from '../../route/params.ts';
import { route, type Route } from '../../route/route.ts';
import { multipart, urlencoded } from './inputs.ts';

/** The operations that put an image into words, for the current and the older group of generator A. */

interface DescribeOperation {
  readonly path: string;
  readonly generator: string;
  readonly deprecated?: true;
}

const common = { method: 'POST', rateClass: 'start', wait: { task: 'describeImage' } } as const;

/** Describes an image given by its link, and waits for the prompts. */
export function describeLink({ generator, ...options }: DescribeOperation): Route {
  return route(DescribeImage)({
    ...common,
    ...options,
    params: { img_url: form.url() },
    body: urlencoded,
    variables: ({ img_url }) => ({ generator, image: { url: img_url } }),
    answers: 'DescriptionTask',
    reply: ({ describeImage }) => taskReply(describeImage),
  });
}

/** Describes an image that is sent along, and waits for the prompts. */
export function describeFile({ generator, ...options }: DescribeOperation): Route {
  return route(DescribeImage)({
    ...common,
    ...options,
    params: { img_file: file() },
    body: multipart,
    variables: ({ img_file }) => ({ generator, image: { fileId: img_file.id } }),
    answers: 'DescriptionTask',
    reply: ({ describeImage }) => taskReply(describeImage),
  });
}
