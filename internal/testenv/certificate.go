package testenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"testing"
	"time"
)

// Certificate writes a certificate for localhost, which has the serial number, and its
// key. Files that exist are replaced as a whole.
func Certificate(t testing.TB, number int64, certFile, keyFile string) {
	t.Helper()
	key := Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der := Must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	secret := Must(x509.MarshalPKCS8PrivateKey(key))(t)
	for name, b := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		NoError(t, os.WriteFile(name+".new", pem.EncodeToMemory(b), 0o600))
		NoError(t, os.Rename(name+".new", name))
	}
}
