import { type DataOf, graphql } from '../../../rest-compat/documents/graphql.ts';

/** Every model, with what it takes. */
export const FaceModels = graphql(`
  query FaceModels {
    models {
      model
      name
      category
      generator
      provider
      kinds
      isDefault
      inputs
      sizes
      aspectRatios
      durations
      formats
      maxCount
      sandbox
      releasedAt
      optionsSchema
    }
  }
`);

/** One model of one generator. */
export type FaceModel = DataOf<typeof FaceModels>['models'][number];
