package others

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"reflect"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsoncodec"
	"go.mongodb.org/mongo-driver/bson/bsonrw"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"github.com/oidkit/oid/objectid"
)

// With a registry that knows the type, the driver v1 stores ids as ObjectIds.
func Example_driverV1() {
	b, err := encode(bson.M{"_id": objectid.MustParse("507f1f77bcf86cd799439011")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b)
	// Output: {"_id": {"$oid":"507f1f77bcf86cd799439011"}}
}

func encode(document any) (bson.Raw, error) {
	var b bytes.Buffer
	w, err := bsonrw.NewBSONValueWriter(&b)
	if err != nil {
		return nil, err
	}
	e, err := bson.NewEncoder(w)
	if err != nil {
		return nil, err
	}
	err = errors.Join(e.SetRegistry(registryWithIDs()), e.Encode(document))
	return b.Bytes(), err
}

func decode(b bson.Raw, document any) error {
	d, err := bson.NewDecoder(bsonrw.NewBSONDocumentReader(b))
	if err != nil {
		return err
	}
	return errors.Join(d.SetRegistry(registryWithIDs()), d.Decode(document))
}

func registryWithIDs() *bsoncodec.Registry {
	registry := bson.NewRegistry()
	for _, t := range []reflect.Type{reflect.TypeFor[objectid.ID](), reflect.TypeFor[*objectid.ID]()} {
		registry.RegisterTypeEncoder(t, bsoncodec.ValueEncoderFunc(
			func(_ bsoncodec.EncodeContext, w bsonrw.ValueWriter, v reflect.Value) error {
				v = reflect.Indirect(v)
				if !v.IsValid() || v.IsZero() {
					return w.WriteNull()
				}
				return w.WriteObjectID(primitive.ObjectID(v.Interface().(objectid.ID)))
			}))
	}
	registry.RegisterTypeDecoder(reflect.TypeFor[objectid.ID](), bsoncodec.ValueDecoderFunc(
		func(_ bsoncodec.DecodeContext, r bsonrw.ValueReader, v reflect.Value) error {
			if r.Type() == bson.TypeNull {
				v.SetZero()
				return r.ReadNull()
			}
			id, err := r.ReadObjectID()
			if err == nil {
				v.Set(reflect.ValueOf(objectid.ID(id)))
			}
			return err
		}))
	return registry
}
