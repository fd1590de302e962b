/* Who asks S3, and where it is: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else the profile
 * AWS_PROFILE ("default") of AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials); AWS_REGION or AWS_DEFAULT_REGION and
 * AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else region and endpoint_url of the profile in AWS_CONFIG_FILE
 * (~/.aws/config). */
#ifndef SERVER_STORE_S3_CREDENTIALS_H
#define SERVER_STORE_S3_CREDENTIALS_H

#include "reel/error.h"
#include "store/s3/sign.h"

enum { S3_ENDPOINT_MAX = 256 };
/* `endpoint`: https://HOST or http://HOST:PORT without a path. REEL_ARGUMENT says what is missing; no error contains a
 * secret. */
bool s3_credentials_load(struct s3_credentials *out, char endpoint[S3_ENDPOINT_MAX], struct reel_error *err);

#endif
