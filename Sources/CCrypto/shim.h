#pragma once
// SHA256_… and SHA512_… are what this needs: no allocation, no failure. OpenSSL 3 would rather have EVP_….
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
