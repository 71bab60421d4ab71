import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';

/** Prompts for common jobs: what a person picks, and an agent then does with the tools. */

interface Job extends Prompt {
  readonly text: (given: Readonly<Record<string, string>>) => string;
}

const required = (name: string, description: string) => ({ name, description, required: true });
const optional = (name: string, description: string) => ({ name, description, required: false });

const BUDGET = optional('budget', 'Most that it may cost in all, such as 2.');
const within = ({ budget }: Readonly<Record<string, string>>) =>
  budget === undefined
    ? 'Say what each step is expected to cost before it is started.'
    : `Ask estimate_cost first, and stay below ${budget} in all by max_cost.`;

const jobs: readonly Job[] = [
  {
    name: 'product_pictures',
    title: 'Images of a product',
    description: 'Several images of one product in different surroundings.',
    arguments: [required('product', 'What it is, or the address of an image of it.'), BUDGET],
    text: (given) =>
      `Make three images of this product in different surroundings: ${given['product']}. If it is the address of an image, use edit_image so that the product stays the same; else generate_image. ${within(given)} Show the links, and ask which one to keep.`,
  },
  {
    name: 'picture_to_film',
    title: 'A film from an image',
    description: 'Sets an image in motion.',
    arguments: [
      required('picture', 'Its address or media id.'),
      optional('motion', 'What is to happen.'),
      BUDGET,
    ],
    text: (given) =>
      `Look at this image with describe_media, then set it in motion with generate_video: ${given['picture']}. What is to happen: ${given['motion'] ?? 'something calm that fits it'}. ${within(given)} Wait with wait_for_task until it is there, and show the link.`,
  },
  {
    name: 'talking_portrait',
    title: 'A portrait that speaks',
    description: 'A face that says a text.',
    arguments: [
      required('text', 'What is said.'),
      optional('portrait', 'The address or media id of a face; one is made when absent.'),
      BUDGET,
    ],
    text: (given) =>
      `${given['portrait'] === undefined ? 'Make a portrait of a friendly person, facing the camera, with generate_image.' : `Take this portrait: ${given['portrait']}.`} Say this text with speak: "${given['text']}". Then let the portrait say it with lip_sync. ${within(given)} Show the link.`,
  },
];

/** What can be picked. */
export const prompts: readonly Prompt[] = jobs.map(({ text: _text, ...prompt }) => prompt);

/** One with its values filled in; undefined where there is none, or a value is missing. */
export function fillPrompt(
  name: string,
  given: Readonly<Record<string, string>>,
): GetPromptResult | undefined {
  const job = jobs.find((one) => one.name === name);
  if (job === undefined) return undefined;
  if (job.arguments?.some((its) => its.required === true && given[its.name] === undefined)) return undefined;
  const { description } = job;
  return {
    ...(description !== undefined && { description }),
    messages: [{ role: 'user', content: { type: 'text', text: job.text(given) } }],
  };
}
