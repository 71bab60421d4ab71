import { z } from 'zod';

/** A model that this stand-in has, with the input schema that Replicate shows for it. */
export interface ReplicateModel {
  readonly name: string;
  /** How faults name a start. */
  readonly operation: 'image' | 'video';
  readonly input: z.ZodType<Record<string, unknown>>;
  /** Whether the output is a list of URLs or one URL. */
  readonly answersList: boolean;
  /** A model of the community, which is run by its version only. */
  readonly isOfCommunity?: boolean;
}

/** Fields that several models have. */
export const prompt = z.string().min(1);
export const address = z.string().regex(/^(data:|https?:\/\/)/, 'Does not match format uri');
export const seed = z.number().int().optional();
export const shapes = [
  '1:1',
  '16:9',
  '21:9',
  '3:2',
  '2:3',
  '4:5',
  '5:4',
  '3:4',
  '4:3',
  '9:16',
  '9:21',
] as const;
