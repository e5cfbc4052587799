import java.text.SimpleDateFormat;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;
import org.bson.*;
import org.bson.json.*;

class Times {
    public static void main(String[] args) {
        Instant instant = Instant.ofEpochSecond(1564041600, 123456789);
        Date date = Date.from(instant);
        ZonedDateTime zoned = instant.atZone(ZoneId.of("Europe/Berlin"));
        JsonWriterSettings shell = JsonWriterSettings.builder().outputMode(JsonMode.SHELL).build();
        TimeZone.setDefault(TimeZone.getTimeZone("GMT+02:00"));
        System.out.println(date);
        System.out.println(instant);
        System.out.println(zoned);
        System.out.println(new SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSSZ").format(date));
        System.out.println(new java.sql.Timestamp(date.getTime()));
        System.out.println(zoned.format(DateTimeFormatter.RFC_1123_DATE_TIME));
        System.out.println(new BsonTimestamp(1564041600, 1));
        System.out.println(new BsonDateTime(date.getTime()));
        System.out.println(value(new BsonDocument("t", new BsonDateTime(date.getTime())).toJson(shell)));
        System.out.println(value(new BsonDocument("t", new BsonTimestamp(1564041600, 1)).toJson(shell)));
    }

    // value returns the value of the only member of a document.
    static String value(String json) {
        return json.replaceAll("^\\{ ?\"?t\"? ?: ?| ?\\}$", "");
    }
}
