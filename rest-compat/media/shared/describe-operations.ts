import { DescribeImage } from '../../documents/media/start.ts';
import { taskReply } from '../../replies/task.ts';
import { file, form } from '../../route/params.ts';
import type { Route } from '../../route/route.ts';
import { multipart, urlencoded, vendorOptions } from './inputs.ts';
import { synchronous } from './start-operations.ts';

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
